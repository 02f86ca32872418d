package written

import app.AppLog
import dev.protolog.ProtoLog

const val PREFIX = "of another file"

fun logTop(msg: String, vararg args: Any?) = ProtoLog.i(AppLog.NET, "top: $msg", *args)

object Log {
    @JvmStatic fun d(msg: String, vararg args: Any?) {
        ProtoLog.d(AppLog.DISK, "%s: $msg!", TAG, *args)
    }

    fun plain(msg: String) = ProtoLog.w(AppLog.NET, msg)

    private const val TAG = "Log 5%"
}

class Server {
    companion object {
        fun e(msg: String, vararg args: Any?) = ProtoLog.e(AppLog.NET, "server $msg", *args)
    }
}
