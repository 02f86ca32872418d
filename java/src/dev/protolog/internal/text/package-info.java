/**
 * Messages as text: templates, arguments, stack traces, and the way to people. Uses {@code process}
 * and {@code proto}.
 */
package dev.protolog.internal.text;
