// The runtime, as `cargo xtask jar` makes it in a copy of protolog.
dependencies {
    "implementation"(files(findProperty("protologRuntime") ?: "../protolog/target/java/jars/protolog-0.1.0.jar"))
}

// Takes the texts out of log calls before they are compiled, and packs the dictionary.
val protologSources = layout.buildDirectory.dir("generated/sources/protolog/java/main")
val protologResources = layout.buildDirectory.dir("generated/resources/protolog/main")

val protolog by tasks.registering(Exec::class) {
    inputs.dir("src/main/java")
    inputs.file("src/main/java/app/AppLog.java")
    outputs.dirs(protologSources, protologResources)
    commandLine(
        findProperty("protologTool") ?: "protologtool", "transform-protolog-calls",
        "--protolog-class", "dev.protolog.ProtoLog",
        "--loggroups-class", "app.AppLog",
        "--loggroups-source", "src/main/java/app/AppLog.java",
        "--source-root", "src/main/java",
        "--output-dir", protologSources.get().asFile.path,
        "--viewer-config", protologResources.get().file("META-INF/protolog/dictionary.pb").asFile.path,
        "src/main/java",
    )
}

// `gradle -PprotologSkip build` builds without the tool.
if (!project.hasProperty("protologSkip")) {
    the<SourceSetContainer>()["main"].apply {
        java.setSrcDirs(listOf(protologSources))
        resources.srcDir(protologResources)
    }
    tasks.named("compileJava") { dependsOn(protolog) }
    tasks.named("processResources") { dependsOn(protolog) }
}
