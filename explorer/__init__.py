"""BERT family explorer: the same text through BERT, DistilBERT and ALBERT, side by side.

Imports go only downwards: ``ui -> views -> analysis -> models``. ``page_state`` and ``runs`` stand
beside the layers: what was asked, and the one expensive answer that every tab reads.
"""
