/**
 * The messages of processed and unprocessed calls, and the dictionary that each trace has of them.
 */
package dev.protolog.internal.dictionary;
