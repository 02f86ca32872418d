package demo

import kotlin.random.Random
import kotlin.time.Duration.Companion.seconds
import kotlin.uuid.Uuid

object Program {
    @JvmStatic
    fun run() {
        collections()
        maps()
        texts()
        numbers()
        sequences()
        files()
        arrayListOf(1).addAll(sequenceOf(2))
    }

    private fun collections() {
        val list = (1..20).map { it * 7 % 11 }.toMutableList()
        list.sortDescending()
        check(list.chunked(3).windowed(2, 2).flatten().size > 3)
        check(list.groupBy { it % 3 }.mapValues { it.value.sum() }.isNotEmpty())
        list.removeAll { it > 8 }
        list.shuffle(Random(5))
        check(list.binarySearch(100) < 0 && list.zip(list.drop(1)).unzip().first.isNotEmpty())
        check(buildList { add("b"); addAll(listOf("c", "d")); add(0, "a"); removeAt(1); subList(0, 2).clear() }.size == 1)
        check(buildSet { add(1); add(2); remove(1) }.single() == 2)
        val deque = ArrayDeque(listOf(1, 2, 3))
        repeat(20) { deque.addFirst(it); deque.removeLast(); deque.addAll(2, listOf(it, it)) }
        check(deque.toList().slice(1..2).size == 2)
        check(listOf(3, 1, 2).sortedWith(compareBy<Int> { -it }.thenBy { it }) == listOf(3, 2, 1))
        check(intArrayOf(3, 1, 2).apply { sort() }.contentToString() == "[1, 2, 3]")
        check(uintArrayOf(3u, 1u).sorted().first() == 1u)
        check(arrayOf(1, 2, 3).copyOfRange(1, 2).plus(4).asList().containsAll(listOf(2, 4)))
    }

    private fun maps() {
        val map = buildMap { put("a", 1); put("b", 2); putAll(mapOf("c" to 3)); remove("a"); keys.retainAll(setOf("b", "c")) }
        check(map.filterValues { it > 2 }.toSortedMap().firstKey() == "c")
        check(map.withDefault { 9 }.getValue("z") == 9 && map.toList().toMap() == map)
    }

    private fun texts() {
        check("a, b ,c".split(",").map { it.trim() }.joinToString("") == "abc")
        check("""
            |one
            |two
        """.trimMargin().lines().size == 2)
        check("AbC".lowercase().replaceFirstChar { it.uppercaseChar() } == "Abc")
        check(Regex("(\\d+)-(\\d+)").replace("1-2 3-4") { it.groupValues[2] + it.groupValues[1] } == "21 43")
        check(Regex("b+").findAll("abbbab").count() == 2 && "a-b-c".substringAfterLast('-') == "c")
        check("12x".toIntOrNull() == null && "-7f".toLong(16) == -127L && "0x1p3".toDouble() == 8.0)
        check("kotlin".encodeToByteArray().decodeToString().padEnd(8, '.').commonPrefixWith("kotlinx") == "kotlin")
        check("a\tb".indexOfAny(charArrayOf('\t')) == 1 && "abc".contains("BC", ignoreCase = true))
        check(buildString { append("x").append(1); insert(0, true); deleteAt(0) } == "ruex1")
        check(Uuid.parse("550e8400-e29b-41d4-a716-446655440000").toHexString().hexToByteArray().size == 16)
        check(kotlin.io.encoding.Base64.decode(kotlin.io.encoding.Base64.encode(byteArrayOf(1, 2, 3, 4))).size == 4)
    }

    private fun numbers() {
        check((10 downTo 1 step 3).sum() == 22 && 7.floorDiv(-2) == -4 && 7.5.coerceIn(1.0..5.0) == 5.0)
        check(Random(1).nextInt(10) in 0..9 && Random(2).nextBytes(3).size == 3 && Random(3).nextDouble(1.0, 2.0) < 2)
        check(90.seconds.toString() == "1m 30s" && kotlin.time.Duration.parse("PT1H").inWholeMinutes == 60L)
        check(ULong.MAX_VALUE.toString(36).toULong(36) == ULong.MAX_VALUE && 5u / 2u == 2u)
        check(kotlin.math.round(2.5) == 2.0 && kotlin.math.asinh(0.0) == 0.0 && 1.2f.toBits() != 0)
        check(lazy { 5 }.value == 5 && runCatching { error("x") }.recover { 1 }.getOrThrow() == 1)
    }

    private fun sequences() {
        val numbers = sequence { yield(1); yieldAll(listOf(2, 3)); yieldAll(generateSequence(4) { it + 1 }) }
        check(numbers.filter { it % 2 == 0 }.map { it * it }.take(3).toList() == listOf(4, 16, 36))
        check(numbers.drop(2).zipWithNext().takeWhile { it.first < 9 }.flatMap { it.toList() }.distinct().count() == 7)
        check(sequenceOf(2, 1).sorted().plus(3).minus(1).chunked(1).last() == listOf(3))
    }

    private fun files() {
        val file = java.io.File.createTempFile("protolog", ".txt")
        file.writeText("one\ntwo\n")
        file.appendText("three")
        check(file.readLines().size == 3 && file.useLines { it.last() } == "three" && file.extension == "txt")
        check(file.toPath().let { java.nio.file.Files.size(it) } == 13L && java.io.File("/a/../b").normalize().path == "/b")
        file.delete()
    }
}
