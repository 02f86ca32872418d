"""A library by the JDK of the machine, so that this example builds where nothing can be downloaded.

A workspace of yours has `java_library` in its place. `PROTOLOG_CLASSES` in the environment is the jar or directory of the runtime.
"""

JarInfo = provider(doc = "Jars.", fields = {"jars": "depset of jars: of the target, and of those that it depends on"})

def _jar_impl(ctx):
    jar = ctx.actions.declare_file(ctx.label.name + ".jar")
    deps = depset(transitive = [dep[JarInfo].jars for dep in ctx.attr.deps])
    ctx.actions.run_shell(
        command = """
            set -e
            work=$(mktemp -d)
            trap 'rm -rf "$work"' EXIT
            unzip -q "$1" -d "$work/src"
            find "$work/src" -name '*.java' > "$work/list"
            mkdir "$work/classes"
            javac -d "$work/classes" -cp "$PROTOLOG_CLASSES:$2" @"$work/list"
            jar --create --file "$3" -C "$work/classes" .
        """,
        arguments = [ctx.file.srcs.path, ":".join([dep.path for dep in deps.to_list()]), jar.path],
        inputs = depset([ctx.file.srcs], transitive = [deps]),
        outputs = [jar],
        mnemonic = "Javac",
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([jar])),
        JarInfo(jars = depset([jar], transitive = [deps])),
    ]

_jar = rule(
    implementation = _jar_impl,
    attrs = {
        "srcs": attr.label(allow_single_file = [".srcjar"], mandatory = True),
        "deps": attr.label_list(providers = [JarInfo]),
    },
)

def jar(name, srcs, **kwargs):
    _jar(name = name, srcs = srcs[0], **kwargs)
