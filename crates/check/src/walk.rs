//! From object to object along hard links.

use std::collections::HashMap;

use hyperslab_chunk::SurveyedDataset;
use hyperslab_file::Survey;
use hyperslab_format::message::Layout;
use hyperslab_object::{Context, Kind, Object, PathId, Target, may_lag, survey_shared};

use crate::{MARK, Progress, Report, Space, gaps, space_map::SpaceMap, sparse::SparseDataset};

/// Progress is told of once in so many objects.
const OFTEN: u64 = 64;

pub(crate) struct Walk<'a> {
    context: &'a Context,
    progress: &'a mut dyn FnMut(Progress),
    map: SpaceMap,
    report: Report,
    /// Objects that are to be looked at: the path that they were first met at, and where they are.
    waiting: Vec<(PathId, u64)>,
    /// How many hard links lead to an object, counted; and the path that it was first met at.
    links: HashMap<u64, (u64, PathId)>,
    /// How many hard links objects say that lead to them.
    says: Vec<(u64, u64)>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(context: &'a Context, progress: &'a mut dyn FnMut(Progress)) -> Walk<'a> {
        let map = SpaceMap::new(context.file().end());
        let (report, waiting, links, says) = (Report::default(), Vec::new(), HashMap::new(), Vec::new());
        Walk { context, progress, map, report, waiting, links, says }
    }

    /// Looks at everything; at lost space too, if it is known which addresses the file has.
    pub(crate) fn run(mut self) -> Report {
        let file = self.context.file();
        self.head();
        file.survey(&mut self.map);
        survey_shared(self.context, &mut self.map);
        if let Some(root) = (&mut self.map as &mut dyn Survey).found("superblock", 0, file.root()) {
            let path = self.map.paths.top(b"/");
            self.meet(path, root);
        }
        while let Some((path, address)) = self.waiting.pop() {
            self.object(path, address);
            let objects = self.report.objects();
            if objects.is_multiple_of(OFTEN) {
                (self.progress)(Progress { objects, known: objects + self.waiting.len() as u64 });
            }
        }
        self.count();
        self.map.turn_to(None);
        let mut spans = self.map.close();
        self.report.free = spans.iter().filter(|span| span.is_free()).map(|span| span.length).sum();
        if let Some(regions) = file.regions() {
            self.map.check_end(&spans, &regions, self.report.marks.swmr);
            self.report.lost = gaps::fill(file, &mut self.map, &mut spans, &regions);
        }
        self.report.usage = SpaceMap::usage(&spans);
        let SpaceMap { problems, notes, .. } = self.map;
        let mut findings = problems.kept;
        findings.extend(notes.kept);
        findings.sort_by_key(|finding| (finding.severity, finding.address));
        self.report.findings = findings;
        (self.report.more_problems, self.report.more_notes) = (problems.more, notes.more);
        self.report
    }

    /// What the superblock tells, and what is wrong with the file as a whole.
    fn head(&mut self) {
        let file = self.context.file();
        self.report.size = file.stored_size();
        self.report.superblock = file.superblock().version;
        self.report.marks = file.marks();
        let survey: &mut dyn Survey = &mut self.map;
        self.report.space = Space::new(survey.found("superblock extension", 0, file.space_info()).flatten().as_ref());
        let marks = self.report.marks;
        if marks.writing && !marks.swmr {
            let why =
                "the file is marked as open for writing: another program has it open, or ended without closing it";
            survey.problem(MARK, 0, why.into());
        } else if marks.writing {
            let why = "the file is marked as open for writing while others read";
            self.map.note(MARK, 0, why.into());
        }
        if marks.journal {
            let why = "a program that ended without closing the file left a journal behind its end: `hyperslab clear` puts its blocks in place";
            self.map.note("journal", file.end(), why.into());
        }
        let trailer = file.trailer_length().unwrap_or(0);
        // The superblock of a file with members of which only libhdf5 knows what they hold tells of all of them.
        let stored = if file.regions().is_some() { file.own_end() } else { file.end() };
        match file.told_end() {
            Some(end) if end > stored => {
                let why = format!("the file is truncated: it ends at {stored:#x}, but should end at {end:#x}");
                self.map.problem("superblock", 0, why);
            }
            Some(end) if end.saturating_add(trailer) < stored => {
                let why = format!("{} bytes behind the end that the superblock tells", stored - end);
                self.map.note(super::END_OF_FILE, end, why);
            }
            _ => {}
        }
    }

    /// A hard link leads here.
    fn meet(&mut self, path: PathId, address: u64) {
        let waiting = &mut self.waiting;
        let (count, _) = self.links.entry(address).or_insert_with(|| {
            waiting.push((path, address));
            (0, path)
        });
        *count += 1;
    }

    fn object(&mut self, path: PathId, address: u64) {
        self.map.turn_to(Some(path));
        let Some(found) = Object::survey(self.context, address, &mut self.map) else { return };
        let object = found.object;
        match object.kind() {
            Kind::Group => self.report.groups += 1,
            Kind::Dataset => {
                self.report.datasets += 1;
                self.values(&object);
            }
            Kind::Datatype => self.report.datatypes += 1,
        }
        let [first, second] = &mut self.report.headers;
        *(if object.header().prefix().version == 1 { first } else { second }) += 1;
        self.says.extend(object.references().ok().map(|count| (address, u64::from(count))));
        self.report.links += found.links.len() as u64;
        // The last one to wait is the first to be looked at.
        for link in found.links.into_iter().rev() {
            if let Target::Hard(target) = link.target {
                let below = self.map.paths.below(path, &link.name);
                self.meet(below, target);
            }
        }
        for datatype in found.committed {
            // One that has no name is not met by its name.
            let unnamed = self.map.paths.with_suffix(path, b" (its datatype)");
            self.meet(unnamed, datatype);
        }
    }

    fn values(&mut self, object: &Object) {
        let context = self.context;
        // What cannot be understood was told of with the messages.
        let (Ok(layout), Ok(extent)) = (object.layout(context), object.extent(context)) else { return };
        let (Ok((datatype, _)), Ok(filters)) = (object.datatype(context), object.filters(context)) else { return };
        let has_vlen = matches!(layout.layout, Layout::Chunked { structure: Some(kind), .. } if kind.has_vlen());
        let in_chunks = if has_vlen { datatype.in_chunks().ok() } else { None };
        let element = in_chunks.as_ref().unwrap_or(&datatype).size() as u64;
        let kept = SurveyedDataset {
            address: object.address(),
            layout: &layout,
            extent: &extent,
            element,
            own_element: datatype.size() as u64,
            filtered: !filters.is_empty(),
        };
        kept.survey(context.file(), &mut self.map);
        let (address, layout, extent) = (object.address(), &layout, &extent);
        let sparse = SparseDataset { address, layout, extent, datatype: &datatype, element, filters: &filters };
        sparse.survey(context.file(), &mut self.map);
    }

    /// Compares the hard links that were met with what objects say.
    fn count(&mut self) {
        // A message that several objects share may use a committed datatype, and counts once.
        let shares = self.context.file().shared_table().is_some();
        for (address, says) in std::mem::take(&mut self.says) {
            let Some(&(has, path)) = self.links.get(&address).filter(|(has, _)| *has != says) else { continue };
            let why = format!("it says that it has {says} hard links, but has {has}");
            self.map.turn_to(Some(path));
            // A count of names grows before the name is seen, and shrinks after it is gone; an object that moves has two names for a moment.
            let file = self.context.file();
            let lags = may_lag(file) && (says > has || file.marks().whole);
            match shares || lags {
                true => self.map.note("object header", address, why),
                false => self.map.problem("object header", address, why),
            }
        }
    }
}
