"""The installed `protologtool`, as the repository `protologtool`.

WORKSPACE:      load("//protolog:tool.bzl", "protolog_tool")
                protolog_tool(name = "protologtool")
MODULE.bazel:   see extension.bzl
"""

def _protolog_tool_impl(repository):
    path = repository.attr.path or repository.os.environ.get("PROTOLOGTOOL") or repository.which("protologtool")
    if not path:
        fail("no `protologtool` on the PATH: install it, or set PROTOLOGTOOL to its path")
    repository.symlink(repository.path(str(path)), "protologtool")
    repository.file("BUILD.bazel", 'exports_files(["protologtool"], visibility = ["//visibility:public"])\n')

protolog_tool = repository_rule(
    implementation = _protolog_tool_impl,
    attrs = {"path": attr.string(doc = "The program; by default PROTOLOGTOOL in the environment, or the one on the PATH.")},
    environ = ["PATH", "PROTOLOGTOOL"],
    local = True,
    doc = "Makes an installed protologtool a target.",
)
