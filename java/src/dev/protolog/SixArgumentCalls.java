package dev.protolog;

import static dev.protolog.LogLevel.DEBUG;
import static dev.protolog.LogLevel.ERROR;
import static dev.protolog.LogLevel.INFO;
import static dev.protolog.LogLevel.VERBOSE;
import static dev.protolog.LogLevel.WARN;
import static dev.protolog.LogLevel.WTF;
import static dev.protolog.internal.text.MessageText.valueOf;

import dev.protolog.internal.write.Call;

/**
 * The methods of {@link ProtoLogImpl} for four to six arguments. There are too many sequences of types for a method each, so javac boxes
 * what the conversions give; in code that runs often the JVM's compiler takes the boxes away again. Written by {@code java/overloads.py}.
 *
 * <p>Invariants: no method throws; code of the application, such as {@code toString}, runs before the call begins.
 */
abstract class SixArgumentCalls {
    SixArgumentCalls() {}

    public static void v(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d);
        at(g, VERBOSE, id, m).add(aa).add(bb).add(cc).add(dd).end();
    }
    public static void v(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e);
        at(g, VERBOSE, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).end();
    }
    public static void v(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e, Object f) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e), ff = valueOf(f);
        at(g, VERBOSE, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).add(ff).end();
    }
    public static void d(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d);
        at(g, DEBUG, id, m).add(aa).add(bb).add(cc).add(dd).end();
    }
    public static void d(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e);
        at(g, DEBUG, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).end();
    }
    public static void d(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e, Object f) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e), ff = valueOf(f);
        at(g, DEBUG, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).add(ff).end();
    }
    public static void i(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d);
        at(g, INFO, id, m).add(aa).add(bb).add(cc).add(dd).end();
    }
    public static void i(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e);
        at(g, INFO, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).end();
    }
    public static void i(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e, Object f) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e), ff = valueOf(f);
        at(g, INFO, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).add(ff).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d);
        at(g, WARN, id, m).add(aa).add(bb).add(cc).add(dd).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e);
        at(g, WARN, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e, Object f) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e), ff = valueOf(f);
        at(g, WARN, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).add(ff).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d);
        at(g, ERROR, id, m).add(aa).add(bb).add(cc).add(dd).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e);
        at(g, ERROR, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e, Object f) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e), ff = valueOf(f);
        at(g, ERROR, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).add(ff).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d);
        at(g, WTF, id, m).add(aa).add(bb).add(cc).add(dd).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e);
        at(g, WTF, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, Object a, Object b, Object c, Object d, Object e, Object f) {
        Object aa = valueOf(a), bb = valueOf(b), cc = valueOf(c), dd = valueOf(d), ee = valueOf(e), ff = valueOf(f);
        at(g, WTF, id, m).add(aa).add(bb).add(cc).add(dd).add(ee).add(ff).end();
    }

    static Call at(IProtoLogGroup g, LogLevel level, long id, long mask) {
        return Call.begin(g, level, id, mask);
    }
}
