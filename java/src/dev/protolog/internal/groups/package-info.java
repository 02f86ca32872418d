/**
 * The groups of messages: their names and methods, the switch words, and settings that come from
 * outside.
 */
package dev.protolog.internal.groups;
