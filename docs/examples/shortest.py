import explorer

explorer.predict("The capital of France is [MASK].", "mini").to_frame()
