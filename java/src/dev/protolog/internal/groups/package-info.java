/**
 * The groups of messages: their names and methods, the switch words, settings that come from
 * outside, and the filters of sessions. Nothing here knows of sessions or dictionaries.
 */
package dev.protolog.internal.groups;
