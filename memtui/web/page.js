"use strict";
addEventListener("DOMContentLoaded", () => {
  document.getElementById("again").addEventListener("click", () => location.reload());
});
