/**
 * The bytes of traces: protobuf, UTF-8, and the hash of ids. Uses no other package of the runtime.
 */
package dev.protolog.internal.proto;
