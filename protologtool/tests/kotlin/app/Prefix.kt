package written

const val OF_KOTLIN = "and Kotlin"
