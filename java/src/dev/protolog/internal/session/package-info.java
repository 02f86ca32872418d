/** Sessions: their messages, the files and recordings that they write, and their end. */
package dev.protolog.internal.session;
