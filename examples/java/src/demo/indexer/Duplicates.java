package demo.indexer;

import static demo.indexer.IndexLog.HASH;

import dev.protolog.ProtoLog;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Finds files with the same content: same size, then same hash, then the same bytes. Empty files do
 * not count.
 */
final class Duplicates {
    /** Files with the same content, in the order of their names. */
    record Group(List<FileEntry> files) {
        long wastedBytes() {
            return files.get(0).size() * (files.size() - 1L);
        }
    }

    private final WorkerPool pool;

    Duplicates(WorkerPool pool) {
        this.pool = pool;
    }

    /** The groups of two or more, most wasted bytes first. */
    List<Group> find(List<FileEntry> files) {
        Map<String, List<FileEntry>> byContent = new LinkedHashMap<>();
        pool.inOrder(candidates(files), hashing(), (entry, hash) -> {
            if (hash == null)
                ProtoLog.e(HASH, "%s is left out of the search for duplicates", entry.name());
            else
                byContent.computeIfAbsent(entry.size() + ":" + hash, key -> new ArrayList<>()).add(entry);
        });
        List<Group> groups = new ArrayList<>();
        for (List<FileEntry> same : byContent.values())
            if (same.size() > 1)
                groups.addAll(confirmed(same));
        groups.sort(Comparator.comparingLong(Group::wastedBytes).reversed());
        groups.forEach(group -> ProtoLog.d(HASH, "%d × the same: %s", group.files().size(),
                group.files().stream().map(FileEntry::name).collect(Collectors.joining(", "))));
        ProtoLog.i(HASH, "duplicates: %3d groups, %8d bytes wasted, any: %5b",
                groups.size(),
                wasted(groups),
                /* the same as */ !groups.isEmpty() /* , as far as we know */);
        return groups;
    }

    private static List<FileEntry> candidates(List<FileEntry> files) {
        Map<Long, Integer> sizes = new HashMap<>();
        for (FileEntry entry : files)
            sizes.merge(entry.size(), 1, Integer::sum);
        List<FileEntry> candidates = new ArrayList<>();
        for (FileEntry entry : files) {
            if (entry.size() > 0 && sizes.get(entry.size()) > 1)
                candidates.add(entry);
        }
        ProtoLog.d(HASH, "%d candidates; %d files are empty", candidates.size(), sizes.get(0L)); // null where none is
        return candidates;
    }

    private static WorkerPool.Job<FileEntry, Long> hashing() {
        return new WorkerPool.Job<>() {
            @Override
            public Long run(FileEntry entry, WorkerPool.Notes notes) throws IOException {
                return ContentHash.of(entry, notes);
            }

            @Override
            public void failed(FileEntry entry, IOException e) {
                ProtoLog.w(HASH, "can't hash %s: %s", entry.name(), Reason.of(e));
            }
        };
    }

    /** Splits files of one size and hash by their bytes. */
    private static List<Group> confirmed(List<FileEntry> same) {
        List<FileEntry> left = new ArrayList<>(same);
        List<Group> groups = new ArrayList<>();
        while (left.size() > 1) {
            FileEntry first = left.remove(0);
            List<FileEntry> equal = new ArrayList<>(List.of(first));
            for (FileEntry other : List.copyOf(left)) {
                if (differsAt(first, other) >= 0)
                    ProtoLog.wtf(HASH, "%s and %s have one hash and differ from byte %d on", first.name(), other.name(),
                            differsAt(first, other));
                else if (left.remove(other))
                    equal.add(other);
            }
            if (equal.size() > 1)
                groups.add(new Group(equal));
        }
        return groups;
    }

    /**
     * The first byte at which two files differ, -1 where none does. Files that can't be read any
     * more differ at once.
     */
    private static long differsAt(FileEntry one, FileEntry other) {
        try {
            return Files.mismatch(one.file(), other.file());
        } catch (IOException e) {
            ProtoLog.e(HASH, "can't compare %s with %s: %s", one.name(), other.name(), Reason.of(e));
            return 0;
        }
    }

    private static long wasted(List<Group> groups) {
        long sum = 0;
        for (Group group : groups)
            sum += group.wastedBytes();
        return sum;
    }
}
