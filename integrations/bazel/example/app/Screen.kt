package app

import dev.protolog.ProtoLog
import net.AppLog

fun drawn(frame: Int) = ProtoLog.d(AppLog.APP, "drew %d of $frame frames", frame)
