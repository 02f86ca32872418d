/**
 * Facts of this process and its threads: clocks, ids, names, errors of the JVM, its end. Uses
 * {@code proto}.
 */
package dev.protolog.internal.process;
