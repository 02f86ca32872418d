package demo.indexer;

import java.util.List;

/** What a run found; {@code unread} counts files and directories that could not be read. */
record Index(List<FileEntry> files, List<Duplicates.Group> duplicates, Statistics statistics, int unread) {}
