package dev.protolog;

import static dev.protolog.LogLevel.DEBUG;
import static dev.protolog.LogLevel.ERROR;
import static dev.protolog.LogLevel.INFO;
import static dev.protolog.LogLevel.VERBOSE;
import static dev.protolog.LogLevel.WARN;
import static dev.protolog.LogLevel.WTF;

/**
 * The methods of {@link ProtoLogImpl} for no argument, one or two, one for each sequence of the types that its conversions give:
 * nothing is boxed, and a call allocates nothing. Written by {@code java/overloads.py}.
 *
 * <p>Invariant: no method throws.
 */
abstract class TwoArgumentCalls extends ThreeArgumentCalls {
    TwoArgumentCalls() {}

    public static void v(IProtoLogGroup g, long id, long m) { at(g, VERBOSE, id, m).end(); }
    public static void v(IProtoLogGroup g, long id, long m, long a) { at(g, VERBOSE, id, m).add(a).end(); }
    public static void v(IProtoLogGroup g, long id, long m, double a) { at(g, VERBOSE, id, m).add(a).end(); }
    public static void v(IProtoLogGroup g, long id, long m, boolean a) { at(g, VERBOSE, id, m).add(a).end(); }
    public static void v(IProtoLogGroup g, long id, long m, String a) { at(g, VERBOSE, id, m).add(a).end(); }
    public static void v(IProtoLogGroup g, long id, long m, long a, long b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, long a, double b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, long a, boolean b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, long a, String b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, double a, long b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, double a, double b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, double a, boolean b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, double a, String b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, boolean a, long b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, boolean a, double b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, boolean a, boolean b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, boolean a, String b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, String a, long b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, String a, double b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, String a, boolean b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void v(IProtoLogGroup g, long id, long m, String a, String b) { at(g, VERBOSE, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m) { at(g, DEBUG, id, m).end(); }
    public static void d(IProtoLogGroup g, long id, long m, long a) { at(g, DEBUG, id, m).add(a).end(); }
    public static void d(IProtoLogGroup g, long id, long m, double a) { at(g, DEBUG, id, m).add(a).end(); }
    public static void d(IProtoLogGroup g, long id, long m, boolean a) { at(g, DEBUG, id, m).add(a).end(); }
    public static void d(IProtoLogGroup g, long id, long m, String a) { at(g, DEBUG, id, m).add(a).end(); }
    public static void d(IProtoLogGroup g, long id, long m, long a, long b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, long a, double b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, long a, boolean b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, long a, String b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, double a, long b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, double a, double b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, double a, boolean b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, double a, String b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, boolean a, long b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, boolean a, double b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, boolean a, boolean b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, boolean a, String b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, String a, long b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, String a, double b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, String a, boolean b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void d(IProtoLogGroup g, long id, long m, String a, String b) { at(g, DEBUG, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m) { at(g, INFO, id, m).end(); }
    public static void i(IProtoLogGroup g, long id, long m, long a) { at(g, INFO, id, m).add(a).end(); }
    public static void i(IProtoLogGroup g, long id, long m, double a) { at(g, INFO, id, m).add(a).end(); }
    public static void i(IProtoLogGroup g, long id, long m, boolean a) { at(g, INFO, id, m).add(a).end(); }
    public static void i(IProtoLogGroup g, long id, long m, String a) { at(g, INFO, id, m).add(a).end(); }
    public static void i(IProtoLogGroup g, long id, long m, long a, long b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, long a, double b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, long a, boolean b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, long a, String b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, double a, long b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, double a, double b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, double a, boolean b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, double a, String b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, boolean a, long b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, boolean a, double b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, boolean a, boolean b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, boolean a, String b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, String a, long b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, String a, double b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, String a, boolean b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void i(IProtoLogGroup g, long id, long m, String a, String b) { at(g, INFO, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m) { at(g, WARN, id, m).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a) { at(g, WARN, id, m).add(a).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a) { at(g, WARN, id, m).add(a).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a) { at(g, WARN, id, m).add(a).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a) { at(g, WARN, id, m).add(a).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, long b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, double b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, boolean b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, String b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, long b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, double b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, boolean b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, String b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, long b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, double b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, boolean b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, String b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, long b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, double b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, boolean b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, String b) { at(g, WARN, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m) { at(g, ERROR, id, m).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a) { at(g, ERROR, id, m).add(a).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a) { at(g, ERROR, id, m).add(a).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a) { at(g, ERROR, id, m).add(a).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a) { at(g, ERROR, id, m).add(a).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, long b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, double b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, boolean b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, String b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, long b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, double b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, boolean b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, String b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, long b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, double b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, boolean b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, String b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, long b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, double b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, boolean b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, String b) { at(g, ERROR, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m) { at(g, WTF, id, m).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a) { at(g, WTF, id, m).add(a).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a) { at(g, WTF, id, m).add(a).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a) { at(g, WTF, id, m).add(a).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a) { at(g, WTF, id, m).add(a).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, long b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, double b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, boolean b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, String b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, long b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, double b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, boolean b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, String b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, long b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, double b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, boolean b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, String b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, long b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, double b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, boolean b) { at(g, WTF, id, m).add(a).add(b).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, String b) { at(g, WTF, id, m).add(a).add(b).end(); }
}
