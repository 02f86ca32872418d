//! The language server: sessions of a client with the real program, as bytes.
//!
//! `cases/*.txt` are transcripts (see [`session`]); `UPDATE_EXPECT=1` renews what the server says.
//! [`switches`] has a program that runs, and [`damaged`] sends texts that nobody would write.

mod damaged;
mod session;
mod switches;
