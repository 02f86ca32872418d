package written

import app.AppLog
import app.AppLog.NET
import dev.protolog.ProtoLog

class Host(private val name: String, val size: Long = 7) {
    fun logAll(byte: Byte, boxed: Int?, char: Char, float: Float, any: Any?) {
        ProtoLog.d(NET, "integers %d %d %d %x %o", byte, boxed, char, size, size + 1)
        ProtoLog.i(NET, "floats $float %s %f %.2f %e", float, float, float / 2.0, size)
        ProtoLog.w(AppLog.DISK, "others %b %b %s %s %s", size > 1, boxed != null, any, boxed, char)
        ProtoLog.e(NET, "values $byte of $name, ${size + 1} and $boxed, 100%%")
        logV("one level deep: %d, $char", size)
        listOf(1, 2).forEach { ProtoLog.d(NET, "in a lambda %d", it) }
    }

    fun described() = ProtoLog.wtf(NET, "an expression %s", evaluated(this))

    override fun toString() = "host $name"

    private fun logV(msg: String, vararg args: Any?) = ProtoLog.v(NET, "%s: $msg", TAG, *args)

    private companion object { const val TAG = "Host" }
}

var evaluations = 0

fun <T> evaluated(value: T): T {
    evaluations++
    return value
}

fun run(): Int {
    val host = Host("example.org")
    host.logAll(-3, null, 'c', 0.1f, listOf("a", null))
    host.described()
    callOthers(3)
    JavaLogs.callAll(4)
    return evaluations
}

fun callOthers(n: Int) {
    ProtoLog.d(NET, "$PREFIX and ${JavaLogs.PREFIX}: $n")
    logTop("in Kotlin %d, %s", n, evaluated("a"))
    Log.d("in Kotlin, $n")
    if (n > 1) Log.plain("in Kotlin") else Server.e("not here")
    Server.e("in Kotlin %b", n > 1)
    JavaLogs.log("in Kotlin %d", n)
    JavaLogs.text("in Kotlin")
}
