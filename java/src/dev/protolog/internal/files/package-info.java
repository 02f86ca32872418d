/**
 * The files that may be written, and how they are opened: no other package opens a file for
 * writing. Uses {@code process}.
 */
package dev.protolog.internal.files;
