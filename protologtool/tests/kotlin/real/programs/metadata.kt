package demo

import kotlin.metadata.jvm.KotlinClassMetadata
import kotlin.metadata.visibility

/** Its own metadata, read and written. */
class Program private constructor(val name: String, var number: Int = 5) {
    companion object {
        @JvmStatic
        fun run() {
            for (type in listOf(Program::class.java, Regex::class.java, Sealed::class.java, Kind::class.java)) {
                val read = KotlinClassMetadata.readStrict(type.getAnnotation(Metadata::class.java)) as KotlinClassMetadata.Class
                check(read.kmClass.name.isNotEmpty())
                check(read.kmClass.functions.all { it.visibility.name.isNotEmpty() && it.returnType.toString().isNotEmpty() })
                val again = KotlinClassMetadata.readLenient(read.write()) as KotlinClassMetadata.Class
                check(again.kmClass.properties.size == read.kmClass.properties.size)
            }
        }
    }
}

sealed interface Sealed { data class A<T : Any>(val value: List<T?>) : Sealed; object B : Sealed }

enum class Kind { ONE, TWO }
