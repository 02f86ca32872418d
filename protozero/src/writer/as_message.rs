//! The targets of a typed message's fields: generated writers wrap any of these.

use super::{Exact, Message, Nested};
use crate::delegate::Delegate;

/// A message, in whatever form it is held.
pub trait AsMessage {
    /// The delegate that has its memory.
    type Delegate: Delegate;

    /// The message, to set fields on.
    fn as_message(&mut self) -> Message<'_, Self::Delegate>;
}

impl<D: Delegate> AsMessage for Message<'_, D> {
    type Delegate = D;

    #[inline]
    fn as_message(&mut self) -> Message<'_, D> {
        self.reborrow()
    }
}

impl<D: Delegate> AsMessage for Nested<'_, D> {
    type Delegate = D;

    #[inline]
    fn as_message(&mut self) -> Message<'_, D> {
        self.reborrow()
    }
}

impl<D: Delegate> AsMessage for Exact<'_, D> {
    type Delegate = D;

    #[inline]
    fn as_message(&mut self) -> Message<'_, D> {
        self.reborrow()
    }
}

impl<M: AsMessage> AsMessage for &mut M {
    type Delegate = M::Delegate;

    #[inline]
    fn as_message(&mut self) -> Message<'_, Self::Delegate> {
        (**self).as_message()
    }
}
