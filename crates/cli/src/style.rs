//! Colours. They reach a terminal only, and none where `NO_COLOR` is set.

use crate::escape::said;
use anstyle::{AnsiColor, Style};

const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}

pub(crate) const GROUP: Style = colour(AnsiColor::Blue).bold();
pub(crate) const DATASET: Style = Style::new().bold();
pub(crate) const TYPE: Style = colour(AnsiColor::Cyan);
pub(crate) const SHAPE: Style = colour(AnsiColor::Green);
pub(crate) const LINK: Style = colour(AnsiColor::Magenta);
pub(crate) const ATTRIBUTE: Style = colour(AnsiColor::Yellow);
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const ERROR: Style = colour(AnsiColor::Red).bold();

const WARNING: Style = colour(AnsiColor::Yellow).bold();

/// What went well enough, but not as one might think.
pub(crate) fn warning(what: &(impl std::fmt::Display + ?Sized)) -> String {
    format!("{WARNING}warning:{WARNING:#} {}", said(what))
}

/// An error, on one line.
pub(crate) fn error(why: &(impl std::fmt::Display + ?Sized)) -> String {
    format!("{ERROR}error:{ERROR:#} {}", said(why))
}
