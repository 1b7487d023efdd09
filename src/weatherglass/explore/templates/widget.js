// Show the page in a frame of a notebook, and pass its questions to the kernel. The frame has no access to the notebook.

export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-forms");
    frame.title = "Explore associations of words";
    frame.style.cssText = "width:100%;height:min(85vh,60rem);border:1px solid #8884;border-radius:6px";
    const asked = (event) => {
      if (event.source === frame.contentWindow && event.data && event.data.weatherglass) model.send(event.data);
    };
    const answered = (message) => frame.contentWindow?.postMessage(message, "*");
    window.addEventListener("message", asked);
    model.on("msg:custom", answered);
    frame.srcdoc = model.get("page");
    el.append(frame);
    return () => {
      window.removeEventListener("message", asked);
      model.off("msg:custom", answered);
    };
  },
};
