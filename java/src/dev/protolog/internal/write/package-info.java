/**
 * The way of a call into the buffer: the sessions that record its group, arguments, writers,
 * chunks, losses. Of a session it knows what {@link dev.protolog.internal.write.WriterOwner} has.
 */
package dev.protolog.internal.write;
