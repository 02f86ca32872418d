/**
 * Selectors, which say which calls are meant, and the rules of single calls: on, off and limits.
 * As {@code protolog-core/src/control} and {@code protolog-rt/src/level/rules} have them.
 */
package dev.protolog.internal.rules;
