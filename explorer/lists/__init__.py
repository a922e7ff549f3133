"""Lists of a reader's own texts through all models: which of them serves the task?

A file becomes rows in ``read`` (with ``delimited`` and ``json_rows``), ``roles`` and ``rows``. The
models read them in ``run``, in ``batches``. ``masked``, ``sentences``, ``bias``, ``labelled`` and
``scored`` score them. ``comparison``, ``judge`` and ``results`` say what the scores allow to say.
``views`` draws this, ``library`` has the public function, and ``ui`` has the tab and the endpoint.
"""
