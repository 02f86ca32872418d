"""Rules that take the texts out of log calls, for Java and Kotlin.

    load("//protolog:defs.bzl", "protolog_dictionary", "protolog_java_library")

    protolog_java_library(
        name = "app",
        srcs = glob(["src/**/*.java"]),
        groups = "src/com/foo/AppLog.java",
        groups_class = "com.foo.AppLog",
        deps = ["//net", "@maven//:protolog"],
    )

    protolog_dictionary(
        name = "dictionary",
        out = "META-INF/protolog/dictionary.pb",
        deps = [":app"],
    )

    java_binary(
        name = "program",
        main_class = "com.foo.Main",
        resources = [":dictionary"],
        runtime_deps = [":app"],
    )

`bazel build //:app` compiles the rewritten sources, `bazel build //:dictionary` writes the messages of `app` and of all that it depends on.
In a program's jar, at that path, the runtime finds them, so that its traces have texts. In another package than the root, add
`resource_strip_prefix = package_name()`. `bazel build //:app_protolog --output_groups=protolog_dictionary` writes the messages of `app` alone.
"""

_CLASS = "dev.protolog.ProtoLog"

ProtologInfo = provider(
    doc = "The dictionaries of log calls.",
    fields = {"dictionaries": "depset of files (.pb): of the target, and of those that it depends on"},
)

def _protolog_sources_impl(ctx):
    archive = ctx.actions.declare_file(ctx.label.name + ".srcjar")
    dictionary = ctx.actions.declare_file(ctx.label.name + ".pb")
    args = ctx.actions.args()
    args.add("--protolog-class", ctx.attr.protolog_class)
    args.add("--loggroups-class", ctx.attr.groups_class)
    args.add("--loggroups-jar" if ctx.file.groups.extension == "jar" else "--loggroups-source", ctx.file.groups)
    args.add("--output-srcjar", archive)
    args.add("--viewer-config", dictionary)
    args.add_all(ctx.attr.flags)
    args.add_all(ctx.files.srcs)

    # A worker takes the arguments of a request from such a file.
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = ["transform-protolog-calls", args],
        inputs = depset(ctx.files.srcs + [ctx.file.groups]),
        outputs = [archive, dictionary],
        mnemonic = "Protolog",
        progress_message = "Taking the texts out of %s" % ctx.label,
        execution_requirements = {"supports-workers": "1", "requires-worker-protocol": "proto"},
    )
    return [
        DefaultInfo(files = depset([archive])),
        OutputGroupInfo(protolog_dictionary = depset([dictionary])),
        ProtologInfo(dictionaries = depset([dictionary])),
    ]

_TOOL = attr.label(
    default = "@protologtool//:protologtool",
    allow_single_file = True,
    executable = True,
    cfg = "exec",
)

protolog_sources = rule(
    implementation = _protolog_sources_impl,
    doc = "Rewritten sources, as an archive for `srcs` of a library. Output group `protolog_dictionary`: their dictionary.",
    attrs = {
        "srcs": attr.label_list(allow_files = [".java", ".kt"], mandatory = True, doc = "The sources."),
        "groups": attr.label(allow_single_file = [".java", ".jar"], mandatory = True, doc = "The source or the jar of the class of the groups."),
        "groups_class": attr.string(mandatory = True, doc = "The full name of that class."),
        "protolog_class": attr.string(default = _CLASS, doc = "The class with the log methods."),
        "flags": attr.string_list(doc = "More flags for `protologtool transform-protolog-calls`."),
        "_tool": _TOOL,
    },
)

# The attributes through which libraries have their sources, and what they depend on.
_EDGES = ["srcs", "deps", "exports", "runtime_deps", "associates"]

def _collect_impl(target, ctx):
    if ProtologInfo in target:
        return []
    found = []
    for name in _EDGES:
        edge = getattr(ctx.rule.attr, name, None)
        for behind in edge if type(edge) == "list" else [edge]:
            if type(behind) == "Target" and ProtologInfo in behind:
                found.append(behind[ProtologInfo].dictionaries)
    return [ProtologInfo(dictionaries = depset(transitive = found))]

_collect = aspect(
    implementation = _collect_impl,
    attr_aspects = _EDGES,
    doc = "Finds dictionaries behind libraries of any rule.",
)

def _protolog_dictionary_impl(ctx):
    dictionary = ctx.actions.declare_file(ctx.attr.out or ctx.label.name + ".pb")
    merged = depset(transitive = [dep[ProtologInfo].dictionaries for dep in ctx.attr.deps])
    if not merged.to_list():
        fail("neither `deps` nor what they depend on has sources of `protolog_sources`")
    args = ctx.actions.args()
    args.add_all(merged, before_each = "--merge")
    args.add("--viewer-config", dictionary)
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = ["generate-viewer-config", args],
        inputs = merged,
        outputs = [dictionary],
        mnemonic = "ProtologDictionary",
        progress_message = "Merging the dictionaries of %s" % ctx.label,
        execution_requirements = {"supports-workers": "1", "requires-worker-protocol": "proto"},
    )
    return [DefaultInfo(files = depset([dictionary]))]

protolog_dictionary = rule(
    implementation = _protolog_dictionary_impl,
    doc = "The dictionary of targets and of all that they depend on.",
    attrs = {
        "deps": attr.label_list(mandatory = True, aspects = [_collect], doc = "Libraries, or programs, with log calls in them or behind them."),
        "out": attr.string(doc = "The file (.pb, .json or .json.gz); by default `<name>.pb`."),
        "_tool": _TOOL,
    },
)

def _library(rule, name, srcs, groups, groups_class, protolog_class, flags, kwargs):
    """A library of the rewritten sources, by `rule`, and these, `<name>_protolog`."""
    protolog_sources(
        name = name + "_protolog",
        srcs = srcs,
        flags = flags,
        groups = groups,
        groups_class = groups_class,
        protolog_class = protolog_class,
        visibility = kwargs.get("visibility"),
    )
    rule(name = name, srcs = [":" + name + "_protolog"], **kwargs)

def protolog_java_library(name, srcs, groups, groups_class, protolog_class = _CLASS, flags = [], rule = None, **kwargs):
    """A `java_library` of rewritten sources, which are `<name>_protolog`.

    Args:
      name: the name of the library.
      srcs: the sources.
      groups: the source or the jar of the class of the groups.
      groups_class: the full name of that class.
      protolog_class: the class with the log methods.
      flags: more flags for `protologtool transform-protolog-calls`.
      rule: the rule of the library, if it is not `native.java_library`.
      **kwargs: all else, such as `deps`, goes to the library.
    """
    _library(rule or native.java_library, name, srcs, groups, groups_class, protolog_class, flags, kwargs)

def protolog_kt_library(name, srcs, groups, groups_class, rule, protolog_class = _CLASS, flags = [], **kwargs):
    """As `protolog_java_library`, for Kotlin: `rule` is `kt_jvm_library` of the `rules_kotlin` that the workspace has."""
    _library(rule, name, srcs, groups, groups_class, protolog_class, flags, kwargs)
