from gradio_client import Client

client = Client("http://127.0.0.1:7860")
answer = client.predict("The capital of France is [MASK].", "mini", 5, api_name="/predict")
for model in answer["models"]:
    for guess in model["masks"][0]["predictions"]:
        print(model["model"], guess["token"], round(guess["probability"], 3))
