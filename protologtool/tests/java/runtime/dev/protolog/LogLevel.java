package dev.protolog;

/** The levels, in order of severity. */
public enum LogLevel { VERBOSE, DEBUG, INFO, WARN, ERROR, WTF }
