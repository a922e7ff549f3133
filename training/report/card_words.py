"""Texts of the model cards."""

SINGLE = (
    "Of the batches that were not the primer's three of five, while the rate fell four of five, "
    "held single sentences of 6 to 30 pieces, one or two whole words of each replaced by `[MASK]`, "
    "common words and words of several pieces less often: what a visitor types, where copying "
    "does not pay."
)
ABOUT = {
    "mini-bert": (
        "the teacher of the family",
        "`BertForPreTraining`, 6 layers, width 384, 12 heads, inner width 1536. "
        "10,500 WordPieces, cut from the BERT-uncased vocabulary by how often the corpus uses "
        "them; all single characters and all words that the primer asks for are kept.",
        "Masked words (15% of the pieces: 80% `[MASK]`, 10% a random piece, 10% unchanged) "
        "and next-sentence prediction (label 0: the second text follows; 1: it is from another "
        f"document), added with equal weight. {SINGLE}",
        "The encoder, pooler and the kept pieces' embeddings of all-MiniLM-L6-v2 (Apache-2.0). "
        "The MLM head is new: its dense layer begins as the identity, its bias as the log "
        "frequency of each piece; the decoder is tied to the embeddings. The weights after "
        "17.2 M tokens, from which it went on, were a mean of two states, whose shares were chosen "
        "by held-out masked accuracy and by the rank of nine capitals in *The capital of … is "
        "[MASK].*, *paris* among them: its rank was a chosen figure then, and is no pure test now. "
        "After 41.7 M tokens, read on processors, its vocabulary grew from 9,500 pieces: a piece "
        "that both vocabularies have kept its vector and bias; a new one took MiniLM's vector by "
        "a linear map fitted to the shared pieces.",
    ),
    "mini-distilbert": (
        "the student of the family",
        "`DistilBertForMaskedLM`, 3 layers, width 384, 12 heads, inner width 1536; no segment "
        "embeddings, no pooler. The teacher's vocabulary.",
        "5 L_ce + 2 L_mlm + 1 L_cos at temperature 2. L_ce and L_mlm are taken at the masked "
        "pieces only (the authors' `restrict_ce_to_mask`), L_cos at all positions but padding, "
        f"on the last hidden states. {SINGLE}",
        "mini-bert's layers 1, 3 and 5 (counted from 0), its embeddings and its MLM head. Its "
        "segment-0 vector is added to the student's position vectors.",
    ),
    "mini-albert": (
        "the ALBERT of the family",
        "`AlbertForPreTraining`, 6 applications of one shared layer, width 384, embedding width "
        "128, 12 heads, inner width 1536. Its own 10,500 Unigram pieces, lower-case, trained on "
        "the corpus by SentencePiece; letters, digits and signs never share a piece, and all words "
        "that the primer asks for are pieces.",
        "Masked words (15%, 80/10/10) and sentence order (label 0: in order; 1: swapped), added "
        "with equal weight. Its head was also asked, of every piece, whether its text came second "
        "(weight 1). Both texts of a pair are whole sentences, at least 40 pieces each, half "
        "of them from where a document begins; a fifth of the sequences held one text. In passages "
        "n-grams of up to three whole words were hidden, n with weight 1/n. Of the batches that "
        "were not the primer's three of five, while the rate fell four of five, were single "
        "sentences, learned from mini-bert's guesses among the words that both have as one piece "
        "and from the word itself.",
        "Embeddings: for each piece the mean of mini-bert's vectors of the WordPieces that spell "
        "it, as mini-bert's first layer would see them, factorised by truncated SVD into the "
        "narrow embedding and the projection (a sixth of the narrow width is kept for the "
        "positions). The shared layer began as mini-bert's layer 3. Before its own training it was "
        "fitted, on mini-bert's vocabulary, to do with application k what mini-bert's layer k does "
        "(cosine distance of the states after every layer, KL to mini-bert's guesses, MLM); then "
        "its word vectors were exchanged for those of its own pieces.",
    ),
}
DATA = """24.0 M words in 68,258 documents: leads of English Wikipedia articles (2015; and 2018 to
2021; CC BY-SA 3.0) and passages of public-domain books. 1% of the documents, chosen by a hash of
their text, is held out and never trained on."""
LIMITS = """Small, and its corpus is small: use it to see how such a model works, not for its
answers. Facts that are not in the primer are often wrong. Encyclopaedia leads and old books
carry the views and the language of their authors; completions about people repeat them. English,
lower-case."""
