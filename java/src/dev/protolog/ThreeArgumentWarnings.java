package dev.protolog;

import static dev.protolog.LogLevel.ERROR;
import static dev.protolog.LogLevel.WARN;
import static dev.protolog.LogLevel.WTF;

/**
 * The methods of {@link ProtoLogImpl} for three arguments and levels from WARN on, one for each sequence of the types that its conversions give:
 * nothing is boxed, and a call allocates nothing. Written by {@code java/overloads.py}.
 *
 * <p>Invariant: no method throws.
 */
abstract class ThreeArgumentWarnings extends SixArgumentCalls {
    ThreeArgumentWarnings() {}

    public static void w(IProtoLogGroup g, long id, long m, long a, long b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, long b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, long b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, long b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, double b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, double b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, double b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, double b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, boolean b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, boolean b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, boolean b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, boolean b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, String b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, String b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, String b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, long a, String b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, long b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, long b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, long b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, long b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, double b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, double b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, double b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, double a, double b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, boolean b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, boolean b, double c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, double a, boolean b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, double a, boolean b, String c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, double a, String b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, String b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, double a, String b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, double a, String b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, long b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, long b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, long b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, long b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, double b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, double b, double c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, double b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, double b, String c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, boolean b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, boolean b, double c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, boolean b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, boolean b, String c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, String b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, String b, double c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, String b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, boolean a, String b, String c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, String a, long b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, long b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, long b, boolean c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, long b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, double b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, double b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, double b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, String a, double b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, boolean b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, boolean b, double c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, String a, boolean b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, String a, boolean b, String c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, String a, String b, long c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, String b, double c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void w(IProtoLogGroup g, long id, long m, String a, String b, boolean c) {
        at(g, WARN, id, m).add(a).add(b).add(c).end();
    }
    public static void w(IProtoLogGroup g, long id, long m, String a, String b, String c) { at(g, WARN, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, long b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, long b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, long b, boolean c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, long b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, double b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, double b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, double b, boolean c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, double b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, boolean b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, boolean b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, boolean b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, long a, boolean b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, String b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, String b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, String b, boolean c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, long a, String b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, long b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, long b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, long b, boolean c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, long b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, double b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, double b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, double b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, double b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, boolean b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, boolean b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, boolean b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, boolean b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, String b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, double a, String b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, String b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, double a, String b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, long b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, long b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, long b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, long b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, double b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, double b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, double b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, double b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, boolean b, long c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, boolean b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, boolean b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, boolean b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, String b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, String b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, String b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, boolean a, String b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, long b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, long b, double c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, long b, boolean c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, long b, String c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, double b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, double b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, double b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, double b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, boolean b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, boolean b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, boolean b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, boolean b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, String b, long c) { at(g, ERROR, id, m).add(a).add(b).add(c).end(); }
    public static void e(IProtoLogGroup g, long id, long m, String a, String b, double c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, String b, boolean c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void e(IProtoLogGroup g, long id, long m, String a, String b, String c) {
        at(g, ERROR, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, long b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, long b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, long b, boolean c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, long b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, double b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, double b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, double b, boolean c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, double b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, boolean b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, boolean b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, boolean b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, boolean b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, String b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, String b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, String b, boolean c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, long a, String b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, long b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, long b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, long b, boolean c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, long b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, double b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, double b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, double b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, double b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, boolean b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, boolean b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, boolean b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, boolean b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, String b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, String b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, String b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, double a, String b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, long b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, long b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, long b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, long b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, double b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, double b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, double b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, double b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, boolean b, long c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, boolean b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, boolean b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, boolean b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, String b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, String b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, String b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, boolean a, String b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, long b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, long b, double c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, long b, boolean c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, long b, String c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, double b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, double b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, double b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, double b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, boolean b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, boolean b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, boolean b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, boolean b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, String b, long c) { at(g, WTF, id, m).add(a).add(b).add(c).end(); }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, String b, double c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, String b, boolean c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
    public static void wtf(IProtoLogGroup g, long id, long m, String a, String b, String c) {
        at(g, WTF, id, m).add(a).add(b).add(c).end();
    }
}
