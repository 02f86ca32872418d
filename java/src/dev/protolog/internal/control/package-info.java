/** Listening to operators, and the files that settings come from. */
package dev.protolog.internal.control;
