//! Blocks of an object, in whichever structures it has, belong to it.

use std::sync::Arc;

use hyperslab_driver::Memory;
use hyperslab_dtype::{Datatype, Order};
use hyperslab_file::{CreateOptions, OpenFile};
use hyperslab_format::version::LibVersion;
use hyperslab_object::{
    CharSet, Context, GroupSettings, Links, Name, NewAttribute, NewType, Object, ObjectSettings, Target, link,
    link_new, new_group, new_root, set_attribute, unlink,
};
use hyperslab_space::Extent;

use crate::{LOWS, in_context, options};

/// A file with two groups, both with many links and attributes.
fn with_groups(low: LibVersion) -> (Context, [u64; 2]) {
    let mut create = CreateOptions::default();
    create.libver_min = low;
    let context = in_context(OpenFile::create(Arc::new(Memory::new()), &create, &options()).unwrap());
    let (object, settings) = (ObjectSettings::default(), GroupSettings::default());
    context.file().operate(|| new_root(&context, &object, &settings)).unwrap();
    let root = context.file().root().unwrap();
    let groups = [b"left".as_slice(), b"right"].map(|name| {
        let made = context.file().operate(|| {
            let at = new_group(&context, &object, &settings)?;
            link_new(&context, root, &Name::new(name, CharSet::Ascii), at).map(|()| at)
        });
        made.unwrap()
    });
    context.file().flush().unwrap();
    groups.into_iter().for_each(|group| fill(&context, group));
    (context, groups)
}

fn fill(context: &Context, group: u64) {
    let (datatype, extent) = (Datatype::integer(4, true, Order::Little).unwrap(), Extent::simple(&[100]).unwrap());
    for nth in 0..60 {
        let name = format!("number {nth}");
        let name = Name::new(name.as_bytes(), CharSet::Ascii);
        let target = Target::Soft(b"/somewhere".to_vec());
        context.file().operate(|| link(context, group, &name, target)).unwrap();
        let datatype = NewType::Own(&datatype);
        let (name, charset) = (name.bytes, CharSet::Ascii);
        let attribute = NewAttribute { name, charset, datatype, extent: &extent, data: &[0; 400] };
        context.file().operate(|| set_attribute(context, group, &attribute)).unwrap();
    }
}

fn links(context: &Context, group: u64) -> usize {
    let group = Object::open(context, group).unwrap();
    Links::of(context, &group).unwrap().all().unwrap().len()
}

#[test]
fn each_block_in_memory_belongs_to_its_object() {
    for low in LOWS {
        let (context, [left, right]) = with_groups(low);
        let (file, root) = (context.file(), context.file().root().unwrap());
        let check = |what: &str| {
            let [lefts, rights] = [left, right].map(|group| file.blocks_of(group));
            assert!(lefts.len() > 5 && rights.len() > 5, "{low:?}, {what}: {lefts:?} {rights:?}");
            assert!(lefts.contains(&left) && rights.contains(&right), "{low:?}, {what}");
            assert!(lefts.iter().all(|block| !rights.contains(block)), "{low:?}, {what}");
            // Nothing of the file as a whole is a block of the cache here.
            assert_eq!(file.blocks_of(0), [], "{low:?}, {what}");
        };
        assert_eq!([left, right, root].map(|group| links(&context, group)), [60, 60, 2]);
        check("made");
        file.flush().unwrap();
        check("flushed");
        for nth in 0..20 {
            let name = format!("number {nth}");
            file.operate(|| unlink(&context, left, name.as_bytes(), &mut |_| Ok(()))).unwrap();
        }
        check("changed");
    }
}

#[test]
fn an_object_is_evicted_alone_and_read_again() {
    for low in LOWS {
        let (context, [left, right]) = with_groups(low);
        let file = context.file();
        assert!(file.evict_object(left).unwrap().unwrap() > 5, "{low:?}: changed blocks stay");
        file.flush().unwrap();
        let rights = file.blocks_of(right);
        assert_eq!(file.evict_object(left).unwrap().unwrap(), 0, "{low:?}");
        assert_eq!((file.blocks_of(left), file.blocks_of(right)), (vec![], rights), "{low:?}");
        assert_eq!([left, right].map(|group| links(&context, group)), [60, 60]);
        assert!(file.blocks_of(left).len() > 3, "{low:?}");
    }
}
