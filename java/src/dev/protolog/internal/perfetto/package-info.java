/**
 * A producer for Perfetto's tracing service: its sessions record this process, too.
 * {@code docs/design/java.md} has its parts.
 */
package dev.protolog.internal.perfetto;
