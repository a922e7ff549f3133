# The explorer on a processor: docker build -t bert-family-explorer . && docker run -p 7860:7860 -v explorer:/data bert-family-explorer
# Everything that it writes goes to /tmp and /data, so `--read-only --tmpfs /tmp` works too.
# Any of 3.11, 3.12 and 3.13 gives the same numbers.
FROM python:3.11-slim

RUN useradd --uid 1000 --create-home explorer && install -d -o explorer /data
WORKDIR /app
COPY requirements.txt constraints.txt ./
COPY deploy/requirements-serve.txt deploy/
# With Ray, as deploy/compose.yaml asks: --build-arg REQUIREMENTS=deploy/requirements-serve.txt
ARG REQUIREMENTS=requirements.txt
# PyTorch's own wheels for processors: the registry's bring gigabytes of CUDA.
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
        -r $REQUIREMENTS -c constraints.txt "torch==2.13.0+cpu"
COPY app.py LICENSE README.md GLOSSARY.md CITATION.cff ./
COPY docs/errors.md docs/
COPY explorer explorer
COPY assets assets

USER 1000
# HF_HOME keeps published checkpoints; without a writable one there are the bundled models alone.
ENV GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=7860 GRADIO_TEMP_DIR=/tmp/gradio HF_HOME=/data \
    GRADIO_ANALYTICS_ENABLED=False PYTHONDONTWRITEBYTECODE=1
VOLUME /data
EXPOSE 7860
HEALTHCHECK --start-period=60s --interval=30s --timeout=15s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:7860/health', timeout=12)"]
CMD ["python", "app.py"]
