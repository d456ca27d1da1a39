"use strict";
addEventListener("DOMContentLoaded", () => {
  const terminal = document.getElementById("terminal");
  const token = terminal.dataset.token || sessionStorage.getItem("token");
  delete terminal.dataset.token;
  history.replaceState(null, "", "/");
  document.getElementById("again").addEventListener("click", () => location.reload());
  if (!token) {
    terminal.remove();
    document.body.classList.add("-unknown");
    return;
  }
  sessionStorage.setItem("token", token);
  terminal.dataset.sessionWebsocketUrl = `ws://${location.host}/ws/${token}`;
  addEventListener("load", () => terminal.querySelector(".xterm-helper-textarea").focus());
});
