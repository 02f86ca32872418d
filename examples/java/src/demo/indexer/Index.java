package demo.indexer;

import java.util.List;

/** The result of a run; {@code unread} counts files and directories that could not be read. */
record Index(List<FileEntry> files, List<Duplicates.Group> duplicates, Statistics statistics, int unread) {}
