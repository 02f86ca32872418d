"""The installed `protologtool` for MODULE.bazel, which Bazel 6 and later read.

    tool = use_extension("//protolog:extension.bzl", "protolog")
    use_repo(tool, "protologtool")
"""

load(":tool.bzl", "protolog_tool")

def _protolog_impl(_module):
    protolog_tool(name = "protologtool")

protolog = module_extension(implementation = _protolog_impl)
