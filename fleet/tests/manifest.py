"""Compares the documents of a manifest with the strict schema of Kubernetes, as `kubernetes-validate` brings it along.

Its own validator needs wheels for each platform, `fastjsonschema` does not. That one knows a draft in which definitions have another place.
"""

import importlib.util
import json
import sys
from pathlib import Path

import fastjsonschema
import ruamel.yaml

VERSION = "v1.37.0-local-strict"

package = Path(importlib.util.find_spec("kubernetes_validate").origin).parent
schema = (package / "kubernetes-json-schema" / VERSION / "_definitions.json").read_text()
for place in ["/api/_definitions.json#/$defs/", "#/$defs/"]:
    schema = schema.replace(f'"{place}', '"#/definitions/')
definitions = json.loads(schema)["$defs"]
documents = ruamel.yaml.YAML(typ="safe", pure=True).load_all(Path(sys.argv[1]))
for document in documents:
    assert document["apiVersion"] == "v1", document["apiVersion"]
    kind = document["kind"]
    root = {"$ref": f"#/definitions/io.k8s.api.core.v1.{kind}", "definitions": definitions}
    try:
        fastjsonschema.compile(root)(document)
    except fastjsonschema.JsonSchemaException as error:
        sys.exit(f"{kind}: {error}")
    print(kind)
