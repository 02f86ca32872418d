// The runtime, as `cargo xtask jar` makes it in a copy of protolog.
dependencies {
    "implementation"(files(findProperty("protologRuntime") ?: "../protolog/target/java/jars/protolog-@VERSION@.jar"))
}

// Takes the texts out of log calls before they are compiled, and packs the dictionary.
val protologSources = layout.buildDirectory.dir("generated/sources/protolog/java/main")
val protologResources = layout.buildDirectory.dir("generated/resources/protolog/main")

val protolog by tasks.registering(Exec::class) {
    inputs.dir("@ROOT@")
    inputs.file("@GROUPS_SOURCE@")
    outputs.dirs(protologSources, protologResources)
    commandLine(
        findProperty("protologTool") ?: "protologtool", "transform-protolog-calls",
        "--protolog-class", "@CLASS@",
        "--loggroups-class", "@GROUPS@",
        "--loggroups-source", "@GROUPS_SOURCE@",
        "--source-root", "@ROOT@",
        "--output-dir", protologSources.get().asFile.path,
        "--viewer-config", protologResources.get().file("META-INF/protolog/dictionary.pb").asFile.path,
        "@ROOT@",
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
