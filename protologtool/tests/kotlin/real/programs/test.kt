package kotlin.test

// What a framework for tests would provide.
public actual annotation class Test
public actual annotation class Ignore
public actual annotation class BeforeTest
public actual annotation class AfterTest

object Program {
    @JvmStatic
    fun run() {
        assertEquals(1, 1)
        assertEquals(1.0, 1.01, 0.1, "near")
        assertNotEquals("a", "b")
        assertContentEquals(listOf(1, 2), listOf(1, 2))
        assertContentEquals(intArrayOf(1), intArrayOf(1))
        assertContains(1..5, 3)
        assertContains(mapOf("a" to 1), "a")
        assertTrue { true }
        assertFalse(false)
        assertIs<String>("x")
        assertSame("x", "x".also { })
        assertNotNull("x") { check(it == "x") }
        expect(2) { 1 + 1 }
        val failure = assertFailsWith<AssertionError> { assertEquals(listOf(1), listOf(2), "lists") }
        assertContains(failure.message!!, "lists")
        assertFails { assertNull(1) }
        assertFails { fail("x") }
        assertFailsWith<AssertionError> { assertContentEquals(arrayOf("a", "b"), arrayOf("a", "c")) }
    }
}
