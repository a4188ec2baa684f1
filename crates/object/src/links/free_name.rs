//! Names for new objects: found free before the object is made, given when it is there.

use hyperslab_file::Result;
use hyperslab_format::message::Target;

use super::{
    Name,
    change::{check_name, exists},
    group_plan::{GroupPlan, Happens::Gets},
    waiting::Waits,
    waiting_names::WaitingLink,
};
use crate::{Context, plan::Plan};

/// Longer names do not wait: memory for those that do is not counted, and all of them fit into any header.
const LONGEST: usize = 1 << 10;

/// A name of a group that is free, for an object that is about to be made: one search tells that, and where the name belongs.
pub struct FreeName<'a> {
    context: &'a Context,
    group: u64,
    name: Name<'a>,
    /// The group, if the link does not wait.
    links: Option<GroupPlan<'a>>,
}

impl<'a> FreeName<'a> {
    /// Looks for a link with this name; an error if the group has one.
    pub fn find(context: &'a Context, group: u64, name: Name<'a>) -> Result<FreeName<'a>> {
        check_name(name.bytes)?;
        let waiting = context.waiting_links();
        let may_wait = waiting.is_enabled() && name.bytes.len() <= LONGEST;
        let waits = if may_wait { waiting.look(group, name.bytes, name.charset) } else { Waits::Never };
        match waits {
            Waits::Yes => return Err(exists(name.bytes)),
            Waits::Free => return Ok(FreeName { context, group, name, links: None }),
            Waits::Never => {}
        }
        let link = name.link(Target::Hard(0));
        let links = GroupPlan::with_free(context, group, &link)?;
        let Some(only_ascii) = Some(&links).filter(|_| may_wait).and_then(|links| links.lets_wait(&link)) else {
            return Ok(FreeName { context, group, name, links: Some(links) });
        };
        waiting.begin(group, only_ascii);
        Ok(FreeName { context, group, name, links: None })
    }

    /// Gives a new object its first name: a hard link. The object and its attributes use these committed types. The group must not have changed since the name was
    /// looked for.
    pub fn give_to(self, object: u64, types: &[u64]) -> Result<()> {
        let FreeName { context, group, name, links } = self;
        let waiting = WaitingLink { name: name.bytes, charset: name.charset, object };
        if links.is_none() && types.is_empty() && context.waiting_links().add(group, waiting) {
            return context.file().note_change();
        }
        let link = name.link(Target::Hard(object));
        // Others that waited went into the group meanwhile, or this one may not wait.
        let links = links.map_or_else(|| GroupPlan::with_free(context, group, &link), Ok)?;
        let mut plan = Plan::new(context);
        links.plan_form(&mut plan, Gets(&link))?;
        types.iter().for_each(|&committed| {
            plan.shows_later(committed, group);
            plan.orders(committed, group);
        });
        let change = plan.begin()?;
        let mut links = links.begin(&change)?;
        links.insert(link)?;
        links.finish_after(&change, types).map(drop)
    }
}
