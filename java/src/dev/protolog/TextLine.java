package dev.protolog;

/** A message as text, of one or more lines, with its level and its group's tag. */
public record TextLine(LogLevel level, String tag, String text) {}
