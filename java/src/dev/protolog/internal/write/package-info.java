/** The way of a call into the buffer: arguments, writers, chunks, losses. */
package dev.protolog.internal.write;
