/**
 * What may be written, and how it is opened: no other package opens a file for writing. Uses {@code
 * process}.
 */
package dev.protolog.internal.files;
