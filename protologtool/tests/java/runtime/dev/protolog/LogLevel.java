package dev.protolog;

public enum LogLevel { VERBOSE, DEBUG, INFO, WARN, ERROR, WTF }
