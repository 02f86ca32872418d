package dev.protolog.internal.proto;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * XXH3, 64 bits, seed 0, default secret. One way for each class of length: 0, 1 to 3, 4 to 8, 9 to
 * 16, 17 to 128, 129 to 240 bytes, and stripes of 64 bytes in blocks of 16 for longer ones.
 */
public final class Xxh3 {
    private static final int STRIPE = 64;
    private static final int STRIPES_IN_BLOCK = 16;
    private static final int BLOCK = STRIPE * STRIPES_IN_BLOCK;

    private static final long PRIME32_1 = 0x9E3779B1L;
    private static final long PRIME32_2 = 0x85EBCA77L;
    private static final long PRIME32_3 = 0xC2B2AE3DL;
    private static final long PRIME64_1 = 0x9E3779B185EBCA87L;
    private static final long PRIME64_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long PRIME64_3 = 0x165667B19E3779F9L;
    private static final long PRIME64_4 = 0x85EBCA77C2B2AE63L;
    private static final long PRIME64_5 = 0x27D4EB2F165667C5L;
    private static final long MIX_1 = 0x165667919E3779F9L;
    private static final long MIX_2 = 0x9FB21C651E98DF25L;

    private static final byte[] SECRET = HexFormat.of().parseHex(
            "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
            + "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
            + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
            + "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Xxh3() {}

    public static long hash(byte[] in) {
        if (in.length > 240) {
            return hashLong(in);
        } else if (in.length > 128) {
            return hash129To240(in);
        } else if (in.length > 16) {
            return hash17To128(in);
        } else if (in.length > 8) {
            return hash9To16(in);
        } else if (in.length > 3) {
            return hash4To8(in);
        } else if (in.length > 0) {
            return hash1To3(in);
        }
        return avalanche64(secret(56) ^ secret(64));
    }

    private static long hash1To3(byte[] in) {
        int length = in.length;
        int first = in[0] & 0xff;
        int middle = in[length >> 1] & 0xff;
        int last = in[length - 1] & 0xff;
        int combined = first << 16 | middle << 24 | last | length << 8;
        int flip = (int) INT.get(SECRET, 0) ^ (int) INT.get(SECRET, 4);
        return avalanche64(Integer.toUnsignedLong(combined ^ flip));
    }

    private static long hash4To8(byte[] in) {
        long high = Integer.toUnsignedLong((int) INT.get(in, 0)) << 32;
        long low = Integer.toUnsignedLong((int) INT.get(in, in.length - 4));
        long hash = high + low ^ secret(8) ^ secret(16);
        hash ^= Long.rotateLeft(hash, 49) ^ Long.rotateLeft(hash, 24);
        hash *= MIX_2;
        hash ^= (hash >>> 35) + in.length;
        hash *= MIX_2;
        return hash ^ hash >>> 28;
    }

    private static long hash9To16(byte[] in) {
        long low = read(in, 0) ^ secret(24) ^ secret(32);
        long high = read(in, in.length - 8) ^ secret(40) ^ secret(48);
        return avalanche(in.length + Long.reverseBytes(low) + high + foldedProduct(low, high));
    }

    private static long hash17To128(byte[] in) {
        long sum = in.length * PRIME64_1;
        for (int i = (in.length - 1) / 32; i >= 0; i--) {
            sum += mix16(in, 16 * i, 32 * i) + mix16(in, in.length - 16 * (i + 1), 32 * i + 16);
        }
        return avalanche(sum);
    }

    private static long hash129To240(byte[] in) {
        long sum = in.length * PRIME64_1;
        for (int i = 0; i < 8; i++) {
            sum += mix16(in, 16 * i, 16 * i);
        }
        sum = avalanche(sum);
        for (int i = 8; i < in.length / 16; i++) {
            sum += mix16(in, 16 * i, 16 * (i - 8) + 3);
        }
        return avalanche(sum + mix16(in, in.length - 16, 119));
    }

    private static long hashLong(byte[] in) {
        long[] sums = {
            PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1,
        };
        // The last stripe ends with the input and overlaps the one before: it is not part of any
        // block.
        int blocks = (in.length - 1) / BLOCK;
        for (int block = 0; block < blocks; block++) {
            for (int stripe = 0; stripe < STRIPES_IN_BLOCK; stripe++) {
                accumulate(sums, in, block * BLOCK + stripe * STRIPE, stripe * 8);
            }
            scramble(sums);
        }
        int stripes = (in.length - 1 - blocks * BLOCK) / STRIPE;
        for (int stripe = 0; stripe < stripes; stripe++) {
            accumulate(sums, in, blocks * BLOCK + stripe * STRIPE, stripe * 8);
        }
        accumulate(sums, in, in.length - STRIPE, SECRET.length - STRIPE - 7);

        long hash = in.length * PRIME64_1;
        for (int i = 0; i < 8; i += 2) {
            hash += foldedProduct(sums[i] ^ secret(11 + 8 * i), sums[i + 1] ^ secret(19 + 8 * i));
        }
        return avalanche(hash);
    }

    private static void accumulate(long[] sums, byte[] in, int at, int secretAt) {
        for (int i = 0; i < 8; i++) {
            long value = read(in, at + 8 * i);
            long key = value ^ secret(secretAt + 8 * i);
            sums[i ^ 1] += value;
            sums[i] += (key & 0xffffffffL) * (key >>> 32);
        }
    }

    private static void scramble(long[] sums) {
        for (int i = 0; i < 8; i++) {
            sums[i] = (sums[i] ^ sums[i] >>> 47 ^ secret(SECRET.length - STRIPE + 8 * i)) * PRIME32_1;
        }
    }

    private static long mix16(byte[] in, int at, int secretAt) {
        return foldedProduct(read(in, at) ^ secret(secretAt), read(in, at + 8) ^ secret(secretAt + 8));
    }

    /** Both halves of the unsigned 128-bit product, one over the other. */
    private static long foldedProduct(long a, long b) {
        long unsignedHigh = Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
        return a * b ^ unsignedHigh;
    }

    private static long avalanche(long hash) {
        hash = (hash ^ hash >>> 37) * MIX_1;
        return hash ^ hash >>> 32;
    }

    /** The final mix of XXH64, which the shortest inputs share. */
    private static long avalanche64(long hash) {
        hash = (hash ^ hash >>> 33) * PRIME64_2;
        hash = (hash ^ hash >>> 29) * PRIME64_3;
        return hash ^ hash >>> 32;
    }

    private static long read(byte[] in, int at) {
        return (long) LONG.get(in, at);
    }

    private static long secret(int at) {
        return (long) LONG.get(SECRET, at);
    }
}
