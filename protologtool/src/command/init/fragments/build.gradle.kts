// The runtime, as `cargo xtask jar` makes it in a copy of protolog.
dependencies {
    "implementation"(files(findProperty("protologRuntime") ?: "../protolog/target/java/jars/protolog-@VERSION@.jar"))
}

// Takes the texts out of log calls before they are compiled, and packs the dictionary.
val protologTool = findProperty("protologTool")?.toString() ?: "protologtool"
val protologSources = layout.buildDirectory.dir("generated/sources/protolog/java/main")
val protologResources = layout.buildDirectory.dir("generated/resources/protolog/main")

val protolog by tasks.registering(Exec::class) {
    inputs.files(fileTree("@ROOT@"), "@GROUPS_SOURCE@")
    // The tool too, wherever it is found: another one may write other sources.
    inputs.files(if ("/" in protologTool) listOf(protologTool) else System.getenv("PATH").split(":").map { "$it/$protologTool" })
    outputs.dirs(protologSources, protologResources)
    commandLine(
        protologTool, "transform-protolog-calls", "--allow-no-sources",
        "--encoding", tasks.named<JavaCompile>("compileJava").get().options.encoding ?: "UTF-8",
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
