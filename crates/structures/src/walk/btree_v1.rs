//! The first kind of B-tree, whatever its keys are.

use hyperslab_file::{Block, OpenFile, Survey};
use hyperslab_format::btree_v1::Node;

/// What the nodes of a tree are made of.
pub(super) trait Form {
    type Key: Send + Sync + 'static;
    /// A node of the tree.
    type Block: Block<Value = Node<Self::Key>>;
    /// Its name in what is told.
    const WHAT: &'static str = Self::Block::WHAT;

    fn block(&self) -> Self::Block;
    fn node_size(&self, file: &OpenFile) -> u64;
    /// Half of the children that a node has room for.
    fn k(&self, file: &OpenFile) -> u16;
    /// Is shown a node: the keys, and the children of a leaf.
    fn node(&mut self, survey: &mut dyn Survey, address: u64, node: &Node<Self::Key>);
}

/// Nodes of one level as they were met: the last one, and what it says is behind it.
type Last = Option<(u64, Option<u64>)>;

/// Shows all nodes of the tree at `root`, and checks that levels go down by one and neighbours know each other.
pub(super) fn walk<F: Form>(file: &OpenFile, root: u64, form: &mut F, survey: &mut dyn Survey) {
    let mut last = Vec::new();
    below(file, root, None, &mut last, form, survey);
    for (address, right) in last.into_iter().flatten() {
        if let Some(right) = right {
            survey.problem(
                F::WHAT,
                address,
                format!("the last node of its level names {right:#x} as its right neighbour"),
            );
        }
    }
}

fn below<F: Form>(
    file: &OpenFile,
    address: u64,
    level: Option<u8>,
    last: &mut Vec<Last>,
    form: &mut F,
    survey: &mut dyn Survey,
) {
    let size = form.node_size(file);
    // The file may end with a node of which only writers need the rest.
    let there = file.end().saturating_sub(address).min(size);
    if !survey.block(F::WHAT, address, there.max(1)) {
        return;
    }
    let Some(node) = survey.found(F::WHAT, address, file.load_once(&form.block(), address)) else { return };
    let most = 2 * usize::from(form.k(file));
    if node.entries.len() > most {
        survey.problem(F::WHAT, address, format!("{} children where {most} have room", node.entries.len()));
    }
    if let Some(level) = level.filter(|level| *level != node.level) {
        survey.problem(F::WHAT, address, format!("a node of level {} where level {level} belongs", node.level));
        return;
    }
    neighbours::<F>(address, &node, last, survey);
    form.node(survey, address, &node);
    if let Some(level) = node.level.checked_sub(1) {
        node.entries.iter().for_each(|(_, child)| below(file, *child, Some(level), last, form, survey));
    }
}

fn neighbours<F: Form>(address: u64, node: &Node<F::Key>, last: &mut Vec<Last>, survey: &mut dyn Survey) {
    let nth = usize::from(node.level);
    if last.len() <= nth {
        last.resize(nth + 1, None);
    }
    let Some(last) = last.get_mut(nth) else { return };
    let name = |address: Option<u64>| address.map_or("nothing".to_owned(), |address| format!("{address:#x}"));
    let before = last.map(|(address, _)| address);
    if node.left != before {
        let why = format!("it names {} as its left neighbour, which is {}", name(node.left), name(before));
        survey.problem(F::WHAT, address, why);
    }
    if let Some((before, right)) = last.filter(|(_, right)| *right != Some(address)) {
        let why = format!("it names {} as its right neighbour, which is {address:#x}", name(right));
        survey.problem(F::WHAT, before, why);
    }
    *last = Some((address, node.right));
}
